/** Returns an object without the fields that are undefined. */
export function definedFields<T extends object>(
  of: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const fields = Object.entries(of).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
