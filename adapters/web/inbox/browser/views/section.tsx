import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Resource } from "../../../shared/browser/index.ts";
import { contactVersion } from "../state/live.ts";

/** Loads something about a contact, again whenever the contact changes. */
export function useResource<Data>(
  load: (signal: AbortSignal) => Promise<Data>,
  id: string,
): Resource<Data> {
  const resource = useMemo(() => new Resource(load), [id]);
  const version = contactVersion.value.get(id) ?? 0;
  useEffect(() => {
    void resource.reload();
    return () => resource.stop();
  }, [resource, version]);
  return resource;
}

interface SectionProps {
  readonly title: string;
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** One part of the contact. */
export function Section({ title, action, children }: SectionProps): JSX.Element {
  return (
    <section class="section">
      <header class="section-header">
        <h3 class="grow">{title}</h3>
        {action}
      </header>
      {children}
    </section>
  );
}
