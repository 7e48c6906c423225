extension RequestTests {
    /// What people sign up and in with.
    static let auth: [BodyCase] =
        fine(
            "SignupRequest", #"{"email":"a@b.org","password":"12345678"}"#,
            #"{"email":"a.b+c@b-c.example.org","password":"pässwörd","display_name":null,"date_of_birth":null,"x":1}"#,
            #"{"email":"a@b.org","password":"12345678","display_name":" Zoë ","date_of_birth":"2015-03-01T00:00:00.000Z"}"#
        )
        + lenient("SignupRequest", #"{"email":" A@B.ORG\n","password":"12345678"}"#)
        + wrong("SignupRequest", "", "[]", "null", "\"x\"", "3")
        + wrong("SignupRequest", "email", #"{"password":"12345678"}"#, #"{"email":null,"password":"12345678"}"#)
        + wrong(
            "SignupRequest", "email", #"{"email":"a","password":"12345678"}"#, #"{"email":7,"password":"12345678"}"#,
            #"{"email":"a@b","password":"12345678"}"#)
        + wrong(
            "SignupRequest", "password", #"{"email":"a@b.org"}"#, #"{"email":"a@b.org","password":"1234567"}"#,
            #"{"email":"a@b.org","password":"12345678\u0000"}"#,
            #"{"email":"a@b.org","password":"1234\u00075678"}"#,
            #"{"email":"a@b.org","password":"\#(String(repeating: "x", count: 1_025))"}"#)
        + fine("SignupRequest", #"{"email":"a@b.org","password":"\#(String(repeating: "😀", count: 1_024))"}"#)
        + wrong("SignupRequest", "display_name", #"{"email":"a@b.org","password":"12345678","display_name":["x"]}"#)
        + wrong(
            "SignupRequest", "date_of_birth",
            #"{"email":"a@b.org","password":"12345678","date_of_birth":"2015-3-1"}"#,
            #"{"email":"a@b.org","password":"12345678","date_of_birth":1425168000}"#)
        + wrongBeyondSchema(
            "SignupRequest", "date_of_birth",
            #"{"email":"a@b.org","password":"12345678","date_of_birth":"2015-02-29T00:00:00Z"}"#)
        + fine("SignupRequest", #"{"email":"a@b.org","password":"12345678","date_of_birth":"2015-03-01"}"#)
        + wrong(
            "SignupRequest", "display_name", #"{"email":"a@b.org","password":"12345678","display_name":""}"#,
            #"{"email":"a@b.org","password":"12345678","display_name":"  "}"#)
        + fine(
            "SignupRequest",
            #"{"email":"a@b.org","password":"12345678","display_name":"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647"}"#)
        + wrongBeyondSchema(
            "SignupRequest", "display_name",
            #"{"email":"a@b.org","password":"12345678","display_name":"a\u200cb"}"#,
            #"{"email":"a@b.org","password":"12345678","display_name":"\u0645\u06cc\u200c"}"#)
        + fine("MeUpdate", #"{"display_name":" Kit "}"#)
        + wrong("MeUpdate", "display_name", "{}", #"{"display_name":null}"#, #"{"display_name":" "}"#)
        + fine("PasswordChange", #"{"password":"x","new_password":"12345678"}"#)
        + wrong(
            "PasswordChange", "password", #"{"new_password":"12345678"}"#, #"{"password":"","new_password":"12345678"}"#
        )
        + wrong("PasswordChange", "new_password", #"{"password":"x"}"#, #"{"password":"x","new_password":"1234567"}"#)
        + fine("EmailChangeRequest", #"{"password":"x","email":"a@b.org"}"#)
        + wrong("EmailChangeRequest", "password", #"{"email":"a@b.org"}"#)
        + wrong("EmailChangeRequest", "email", #"{"password":"x"}"#, #"{"password":"x","email":1}"#)
        + wrong("EmailChangeRequest", "email", #"{"password":"x","email":"a"}"#)
        + fine("EmailChangeConfirmation", #"{"code":"abcde-FGHJK mnpqr stuvw"}"#)
        + wrong("EmailChangeConfirmation", "code", "{}", #"{"code":"abc"}"#, #"{"code":7}"#)
        + wrongBeyondSchema("EmailChangeConfirmation", "code", #"{"code":"abcde-FGHJK mnpqr stuv!"}"#)
        + fine(
            "PhoneRequest", #"{"password":"x","phone":"+4930123456"}"#, #"{"password":"x","phone":"+49 (30) 12-34.56"}"#
        )
        + lenient("PhoneRequest", #"{"password":"x","phone":"\u200e＋４９（３０）１２–３４．５６"}"#)
        + lenient("PhoneRequest", #"{"password":"x","phone":"+٤٩\u00a0٣٠١٢٣٤٥٦"}"#)
        + wrong("PhoneRequest", "password", #"{"phone":"+4930123456"}"#, #"{"password":"","phone":"+4930123456"}"#)
        + wrong("PhoneRequest", "phone", #"{"password":"x"}"#, #"{"password":"x","phone":null}"#)
        + wrong(
            "PhoneRequest", "phone", #"{"password":"x","phone":4930123456}"#, #"{"password":"x","phone":"030 123456"}"#)
        + wrong(
            "PhoneRequest", "phone", #"{"password":"x","phone":"004930123456"}"#,
            #"{"password":"x","phone":"+0930123456"}"#,
            #"{"password":"x","phone":"+4930123"}"#, #"{"password":"x","phone":"+4930123456789012"}"#,
            #"{"password":"x","phone":"+4930123456;ext=7"}"#, #"{"password":"x","phone":"+4930+123456"}"#)
        + fine("PhoneConfirmation", #"{"code":"123456"}"#, #"{"code":" 123-456 "}"#)
        + lenient("PhoneConfirmation", #"{"code":"١٢٣٤٥٦"}"#)
        + wrong("PhoneConfirmation", "code", "{}", #"{"code":"12345"}"#, #"{"code":"1234567"}"#, #"{"code":123456}"#)
        + wrong("PhoneConfirmation", "code", #"{"code":"12345a"}"#)
        + fine("PasswordResetRequest", #"{"email":"A@b.org"}"#)
        + wrong("PasswordResetRequest", "email", "{}", #"{"email":null}"#)
        + fine("PasswordReset", #"{"code":"ABCDEFGHJKMNPQRSTUVW","new_password":"12345678"}"#)
        + wrong("PasswordReset", "code", #"{"new_password":"12345678"}"#)
        + wrong("PasswordReset", "new_password", #"{"code":"ABCDEFGHJKMNPQRSTUVW","new_password":"1234567"}"#)
        + fine("LoginRequest", #"{"email":"a@b.org","password":"x"}"#)
        + wrong(
            "LoginRequest", "password", #"{"email":"a@b.org","password":""}"#,
            #"{"email":"a@b.org","password":"\#(String(repeating: "x", count: 1_025))"}"#)
        + fine("RefreshRequest", #"{"refresh_token":""}"#)
        + wrong("RefreshRequest", "refresh_token", "{}", #"{"refresh_token":null}"#, #"{"refresh_token":1}"#)
        + fine("ChildLoginRequest", #"{"family_code":"abc123","username":" kit ","pin":"0000"}"#)
        + lenient(
            "ChildLoginRequest", #"{"family_code":"ＡＢＣ１２３","username":"kit","pin":"١٢٣٤"}"#,
            #"{"family_code":"abc–123","username":"kit","pin":"۱۲\u00a0۳۴"}"#)
        + fine("ChildLoginRequest", #"{"family_code":" abc-12 3","username":"kit","pin":" 12-34 "}"#)
        + wrong(
            "ChildLoginRequest", "family_code", #"{"family_code":"abc12","username":"kit","pin":"0000"}"#,
            #"{"family_code":"abc123456","username":"kit","pin":"0000"}"#)
        + wrong(
            "ChildLoginRequest", "username", #"{"family_code":"abc123","username":"","pin":"0000"}"#,
            #"{"family_code":"abc123","username":" \t","pin":"0000"}"#,
            #"{"family_code":"abc123","username":"\#(String(repeating: "x", count: 65))","pin":"0000"}"#)
        + wrong("ChildLoginRequest", "username", #"{"family_code":"abc123","username":"k\u0007t","pin":"0000"}"#)
        + wrong(
            "ChildLoginRequest", "pin", #"{"family_code":"abc123","username":"kit","pin":"000"}"#,
            #"{"family_code":"abc123","username":"kit","pin":"00000"}"#,
            #"{"family_code":"abc123","username":"kit","pin":"+123"}"#,
            #"{"family_code":"abc123","username":"kit","pin":1234}"#)
}
