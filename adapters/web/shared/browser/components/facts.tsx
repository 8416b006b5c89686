import type { ComponentChildren, JSX } from "preact";

interface FactsProps {
  readonly of: readonly (readonly [name: string, value: ComponentChildren])[];
}

/** Names and values. Those without a value are left out. */
export function Facts({ of }: FactsProps): JSX.Element {
  const known = of.filter(
    ([, value]) => value !== null && value !== undefined && value !== "" && value !== false,
  );
  return (
    <dl class="facts">
      {known.map(([name, value]) => (
        <div key={name} class="fact">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
