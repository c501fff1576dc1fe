/// Something that receives messages put through the door; called on the loop thread, in order.
package protocol LoopMessageReceiver: AnyObject, Sendable {
  func receive(_ code: UInt8)
}
