import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import { ErrorNote, useResource, type Resource } from "../../../shared/browser/index.ts";
import { contactVersion } from "../state/live.ts";

/** Loads something about a contact, again whenever the contact changes. */
export const useContactResource = <Data,>(
  id: string,
  load: (signal: AbortSignal) => Promise<Data>,
): Resource<Data> => useResource(load, [id], contactVersion.value.get(id));

interface SectionProps {
  readonly title: string;
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** One part of the contact. */
export function Section({ title, action, children }: SectionProps): JSX.Element {
  const id = useId();
  return (
    <section
      class="section"
      aria-labelledby={id}
      // Takes the focus from what leaves it.
      tabIndex={-1}
    >
      <header class="section-header">
        <h3 id={id} class="grow">
          {title}
        </h3>
        {action}
      </header>
      {children}
    </section>
  );
}

interface LoadedProps<Data> {
  readonly of: Resource<Data>;
  /** The height of the content for most contacts. The parts below it then seldom move. */
  readonly height: string;
  readonly children: (data: Data) => ComponentChildren;
}

/** Shows what was loaded. Says why it was not, so that nobody thinks that there is nothing. */
export function Loaded<Data>({ of, height, children }: LoadedProps<Data>): JSX.Element {
  const { data, error } = of.state.value;
  if (data !== undefined) return <>{children(data)}</>;
  if (error === undefined) return <div style={{ height }} />;
  return <ErrorNote error={error} onRetry={() => void of.reload()} />;
}
