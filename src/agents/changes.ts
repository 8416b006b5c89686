/**
 * Changes of settings in an input. An absent field keeps its value. Null removes a field that can
 * be absent.
 */
export type SettingChanges<T> = {
  readonly [Name in keyof T]?:
    Given<T[Name]> | (undefined extends T[Name] ? null : never) | undefined;
};
/** The type of a value in an input, where lists are read-only. */
type Given<Value> = Value extends (infer Item)[] ? readonly Item[] : Value;

/**
 * Returns the settings after the changes. The result is complete, because only fields that can be
 * absent accept null.
 */
export function withChanges<T extends object>(before: T, changes: SettingChanges<T> = {}): T {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const after = Object.entries({ ...before, ...Object.fromEntries(given) });
  return Object.fromEntries(after.filter(([, value]) => value !== null)) as T;
}
