/** A port with some of its members replaced. */
export function over<T extends object>(port: T, changes: Partial<T>): T {
  return new Proxy(port, {
    get(target, property) {
      const value: unknown = Reflect.get(
        Reflect.has(changes, property) ? changes : target,
        property,
      );
      // Methods that use private fields need the original object as `this`.
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
