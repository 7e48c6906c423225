import Foundation
import PackagePlugin

/// Compiles the wire declarations in `Wire/` to Swift before the target is compiled.
@main
struct WirePlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = target.directoryURL.appending(path: "Wire")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let names = files.filter { $0.pathExtension == "wire" }.map { $0.deletingPathExtension().lastPathComponent }
        let output = context.pluginWorkDirectoryURL
        return [
            .buildCommand(
                displayName: "Compiling the declarations of the wire",
                executable: try context.tool(named: "wirec").url,
                arguments: ["swift", folder.path, output.path],
                inputFiles: files.sorted { $0.path < $1.path },
                outputFiles: (names + ["Lists"]).sorted().map { output.appending(path: $0 + ".wire.swift") })
        ]
    }
}
