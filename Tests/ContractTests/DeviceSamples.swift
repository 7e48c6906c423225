import Contract
import Domain

extension Sample {
    // MARK: devices, deliveries

    private static let device = DeviceTokenResponse(
        id: id(26), userID: id(1), platform: .ipados, token: Secret("t"), createdAt: moment, lastUsedAt: nil)

    private static let deliveryReview = DeliveryReview(
        id: id(27), familyID: id(2), nagID: id(3), cause: "nag_created", userID: id(1), channel: .sms, status: .failed,
        attempts: 8,
        failure: "status 503", isDropped: false, repeats: 2, createdAt: moment, nextAttemptAt: nil)

    static let devices = [
        Sample(
            API.registerDevice, NoParameters(), DeviceTokenRegister(platform: .ios, token: Secret("t")), device),
        Sample(API.listDevices, page, NoBody(), page(device)),
        Sample(API.deleteDevice, DevicePath(deviceID: id(26)), NoBody(), NoAnswer()),
        Sample(
            API.listDeliveries, DeliveryListQuery(nagID: id(3), page: page), NoBody(),
            page(
                DeliveryResponse(
                    id: id(27), nagEventID: id(14), channel: .push, status: .pending, providerRef: nil))),
        Sample(
            API.listDeliveryReviews, DeliveryReviewQuery(status: .failed, isDropped: true, page: page), NoBody(),
            page(deliveryReview)),
        Sample(API.resendDelivery, DeliveryPath(deliveryID: id(27)), NoBody(), deliveryReview),
    ]
}
