/// A value behind one reference: a copy is a retain however much the value holds, and a change makes a box of
/// its own. For settings: read for every request, changed rarely.
package struct CopyOnWrite<Value: Sendable>: Sendable {
  private final class Box: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  private var box: Box

  package init(_ value: Value) { box = Box(value) }

  package var value: Value {
    get { box.value }
    set { box = Box(newValue) }
  }

  /// Whether both are copies of one box, and so equal without a look inside.
  package static func areSame(_ one: Self, _ other: Self) -> Bool { one.box === other.box }
}
