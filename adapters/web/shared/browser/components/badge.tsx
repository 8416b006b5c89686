import type { ComponentChildren, JSX } from "preact";
import { Icon, type IconName } from "./icons.tsx";

/** The meaning of a color. */
export type Tone = "neutral" | "accent" | "good" | "warn" | "bad";

interface BadgeProps {
  readonly tone?: Tone;
  readonly icon?: IconName;
  /** What a tooltip says. */
  readonly tip?: string;
  readonly children: ComponentChildren;
}

export function Badge({ tone = "neutral", icon, tip, children }: BadgeProps): JSX.Element {
  return (
    <span class={`badge tone-${tone}`} data-tooltip={tip}>
      {icon && <Icon name={icon} />}
      <bdi class="truncate">{children}</bdi>
    </span>
  );
}
