import Domain

extension API {
    /// Register the push token of a device.
    public static let registerDevice = Endpoint<NoParameters, DeviceTokenRegister, DeviceTokenResponse>(
        Operation("registerDevice", .post, "/api/v1/devices", tag: .devices, status: 201))

    /// List the caller's devices.
    public static let listDevices = Endpoint<PageRequest, NoBody, Page<DeviceTokenResponse>>(
        Operation("listDevices", .get, "/api/v1/devices", tag: .devices))

    /// Remove one of the caller's devices.
    public static let deleteDevice = Endpoint<DevicePath, NoBody, NoAnswer>(
        Operation("deleteDevice", .delete, "/api/v1/devices/{device_id}", tag: .devices, status: 204))

    static let devicesOperations: [Operation] = [
        registerDevice.operation, listDevices.operation, deleteDevice.operation,
    ]
}

// MARK: Parameters

/// The device in a path.
public struct DevicePath: WireParameters, Hashable {
    public var deviceID: DeviceID

    public init(deviceID: DeviceID) {
        self.deviceID = deviceID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        deviceID = try parameters.path("device_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("device_id", deviceID)
    }
}
