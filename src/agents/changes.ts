/**
 * Changes of settings, as callers give them. An absent field keeps its value. Null removes a field
 * that can be absent.
 */
export type SettingChanges<T> = {
  readonly [Name in keyof T]?:
    Given<T[Name]> | (undefined extends T[Name] ? null : never) | undefined;
};
/** The lists of an input are read-only. */
type Given<Value> = Value extends (infer Item)[] ? readonly Item[] : Value;

/** Null is only accepted for fields that can be absent, so the result is complete. */
export function withChanges<T extends object>(before: T, changes: SettingChanges<T> = {}): T {
  const said = Object.entries(changes).filter(([, value]) => value !== undefined);
  const after = Object.entries({ ...before, ...Object.fromEntries(said) });
  return Object.fromEntries(after.filter(([, value]) => value !== null)) as T;
}
