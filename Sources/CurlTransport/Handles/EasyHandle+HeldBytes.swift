import CCurl

/// The bytes that libcurl keeps aside while a transfer is paused.
extension EasyHandle {
  /// Makes libcurl offer the bytes that it has kept aside while paused, which its transfer now refuses.
  ///
  /// 7.88 forgets to free them when the transfer leaves a connection that others use, and would deliver them as part
  /// of the handle's next body. After a failure it has no connection to offer them on: such a handle is spoilt.
  func dropHeldBytes() {
    if setPaused(receiving: false, sending: true) == Int(CURLE_BAD_FUNCTION_ARGUMENT.rawValue) {
      isRecyclable = false
    }
  }

  /// Lets libcurl call back before it ends the transfer, while what it has kept aside can still be had: only a paused
  /// stream beside running ones may end by itself.
  func watchEnd() {
    guard !watchesEnd else { return }
    watchesEnd = true
    unsafe cshims_set_xferinfo_function(raw, CurlCallbacks.progress)
    unsafe cshims_set_xferinfo_data(raw, Unmanaged.passUnretained(self).toOpaque())
    unsafe cshims_set_no_progress(raw, 0)
  }

  func watchEndNoMore() {
    guard watchesEnd else { return }
    watchesEnd = false
    unsafe cshims_set_no_progress(raw, 1)
  }

  /// Takes what libcurl has kept aside when the transfer has failed: it would be lost with it.
  ///
  /// It calls back also while all is well; only when something has gone wrong it has said so before.
  func takeHeldBytes() {
    guard errors.isSet, let transfer, transfer.machine.takesRest() else { return }
    _ = setPaused(receiving: false, sending: transfer.machine.isSendPaused)
  }
}
