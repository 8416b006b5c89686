/** A port as it is, but for what a test puts in its place. */
export function over<T extends object>(port: T, changes: Partial<T>): T {
  return new Proxy(port, {
    get(target, property) {
      const value: unknown = Reflect.get(
        Reflect.has(changes, property) ? changes : target,
        property,
      );
      // Ports with private fields know only themselves.
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
