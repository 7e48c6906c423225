print("nagz")
