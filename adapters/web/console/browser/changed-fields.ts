/**
 * The fields of `after` that differ from `before`. A form sends only these, so that it leaves what
 * another person has changed meanwhile.
 */
export function changedFields<Fields extends object>(
  before: Fields,
  after: Fields,
): Partial<Fields> {
  const changed: Partial<Fields> = { ...after };
  for (const name of Object.keys(after) as (keyof Fields)[]) {
    if (JSON.stringify(after[name]) === JSON.stringify(before[name])) delete changed[name];
  }
  return changed;
}
