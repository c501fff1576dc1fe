@_exported public import StreamCore
