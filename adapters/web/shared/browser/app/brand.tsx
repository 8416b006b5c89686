import type { ComponentChildren, JSX } from "preact";

/** The name of a page, after its mark. */
export function Brand({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <span class="brand">
      <span class="brand-mark" aria-hidden="true" />
      <span class="truncate">{children}</span>
    </span>
  );
}
