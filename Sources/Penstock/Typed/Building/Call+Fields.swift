extension Call {
  /// Adds a query item; nil adds none. A name may be repeated.
  public func query(_ name: String, _ value: (any URLValue)?) -> Call {
    guard let item = QueryItem(name, value) else { return self }
    return with { $0.query.append(.item(item)) }
  }

  /// Adds an array, a date, data or a nested value under a name, as the query encoding says; nil adds nothing.
  @_disfavoredOverload
  public func query<Value: Encodable & Sendable>(_ name: String, _ value: Value?) -> Call {
    guard let value else { return self }
    return with {
      $0.query.append(.model { (encoding) throws(HTTPError) in try encoding.items(name, value) })
    }
  }

  /// Adds query items in their order; those that are nil are left out.
  public func query(_ items: KeyValuePairs<String, (any URLValue)?>) -> Call {
    with { plan in
      for (name, value) in items {
        if let item = QueryItem(name, value) { plan.query.append(.item(item)) }
      }
    }
  }

  /// Adds query items in their order.
  public func query(_ items: [QueryItem]) -> Call { with { $0.query += items.map { .item($0) } } }

  /// Adds query items from a builder.
  public func query(@QueryBuilder _ items: () -> [QueryItem]) -> Call { query(items()) }

  /// Adds the properties of a model: arrays, nested values, dates and so on as the query encoding says.
  @_disfavoredOverload
  public func query<Model: Encodable & Sendable>(_ model: Model) -> Call {
    with { $0.query.append(.model { (encoding) throws(HTTPError) in try encoding.items(model) }) }
  }

  /// How values become query items, for this call, wherever it stands in the chain.
  public func queryEncoding(_ encoding: QueryEncoding) -> Call { with { $0.queryEncoding = encoding } }

  /// Sets a header field, in place of what the chain or the client had under that name; nil takes it away, the
  /// client's too.
  public func header(_ name: String, _ value: (any URLValue)?) -> Call {
    with { plan in
      plan.headers.removeAll(name)
      guard let value else {
        plan.changes.append { $0.withoutDefaults.insert(name) }
        return
      }
      plan.append(name, value)
    }
  }

  /// Adds a line to a header field.
  public func addingHeader(_ name: String, _ value: any URLValue) -> Call { with { $0.append(name, value) } }

  /// Sets header fields; each name replaces what was there under it, repeats among them are kept.
  public func headers(_ fields: HTTPFields) -> Call {
    with { plan in
      for field in fields { plan.headers.removeAll(field.name) }
      plan.headers.append(contentsOf: fields)
    }
  }

  /// Sets header fields from a builder.
  public func headers(@HeaderBuilder _ fields: () -> HTTPFields) -> Call { headers(fields()) }

  /// Sets header fields from a model: `traceID` is `trace-id`, arrays are repeated, nil is left out.
  public func headers<Model: Encodable>(model: Model, keys: KeyForm = .kebabCase) -> Call {
    with { plan in
      do throws(HTTPError) {
        let encoding = QueryEncoding(arrays: .repeated, nesting: .json, keys: keys)
        let items = try encoding.items(model)
        for item in items { plan.headers.removeAll(item.name) }
        for item in items { plan.headers.append(item.name, item.value ?? "") }
      } catch {
        if plan.headerFailure == nil { plan.headerFailure = error }
      }
    }
  }
}

extension CallPlan {
  fileprivate mutating func append(_ name: String, _ value: any URLValue) {
    if let text = value.urlText {
      headers.append(name, text)
    } else if headerFailure == nil {
      headerFailure = HTTPError(
        .encodingFailed, phase: .queue,
        message:
          "the header field \"\(name)\" can't be written: a value of type \(type(of: value)) has no text")
    }
  }
}
