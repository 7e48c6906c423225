import Contract
import Domain

extension Sample {
    // MARK: devices, deliveries

    private static let device = DeviceTokenResponse(
        id: id(26), userID: id(1), platform: .ipados, token: Secret("t"), createdAt: moment, lastUsedAt: nil)

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
    ]
}
