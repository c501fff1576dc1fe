/// A value behind one reference: a copy is a retain however much the value holds, and a change makes a box of
/// its own. For settings: read for every request, changed rarely.
@usableFromInline
package struct CopyOnWrite<Value: Sendable>: Sendable {
  @usableFromInline
  final class Box: Sendable {
    @usableFromInline let value: Value
    @usableFromInline init(_ value: Value) { self.value = value }
  }

  @usableFromInline var box: Box

  @inlinable
  package init(_ value: Value) { box = Box(value) }

  @inlinable
  package var value: Value {
    get { box.value }
    set { box = Box(newValue) }
  }

  /// Whether both are copies of one box, and so equal without a look inside.
  @inlinable
  package static func areSame(_ one: Self, _ other: Self) -> Bool { one.box === other.box }
}
