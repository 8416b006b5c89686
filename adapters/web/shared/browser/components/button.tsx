import type { ButtonHTMLAttributes, JSX, Ref } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { text } from "../texts/shared-texts.ts";
import { Icon, type IconName } from "./icons.tsx";

/** The weight of a button: one `primary` at most in each part of a page. */
export type ButtonKind = "primary" | "secondary" | "quiet" | "danger";

export interface ButtonProps extends Omit<ButtonHTMLAttributes, "icon" | "size" | "class"> {
  readonly class?: string;
  readonly kind?: ButtonKind;
  readonly icon?: IconName;
  readonly isSmall?: boolean;
  /** Shows that its action is under way, and takes no clicks meanwhile. */
  readonly isBusy?: boolean;
  readonly buttonRef?: Ref<HTMLButtonElement>;
}

export function Button(props: ButtonProps): JSX.Element {
  const { kind = "secondary", icon, isSmall, isBusy, buttonRef, children, ...rest } = props;
  const classes = ["button", `button-${kind}`, isSmall && "button-small", isBusy && "is-busy"];
  return (
    <button
      type="button"
      {...rest}
      ref={buttonRef ?? null}
      class={[...classes, rest.class].filter(Boolean).join(" ")}
      aria-busy={isBusy}
      onClick={isBusy === true ? refuse : rest.onClick}
    >
      {icon && <Icon name={icon} />}
      {children && <span class="button-label">{children}</span>}
    </button>
  );
}

/** A button of the type `submit` would send its form again, by a click or by Enter. */
const refuse = (event: Event): void => event.preventDefault();

interface IconButtonProps extends Omit<ButtonProps, "icon" | "children" | "label"> {
  readonly icon: IconName;
  /** What it does: its name for screen readers, and its tooltip. */
  readonly label: string;
  /** The key that does the same, shown in the tooltip. */
  readonly shortcut?: string;
}

/** A button that is only an icon. */
export function IconButton({ label, shortcut, ...props }: IconButtonProps): JSX.Element {
  return (
    <Button
      kind="quiet"
      {...props}
      class={`button-icon ${props.class ?? ""}`}
      aria-label={label}
      data-tooltip={label}
      data-tooltip-key={shortcut}
      aria-keyshortcuts={shortcut?.replace("Ctrl", "Control")}
    />
  );
}

/** Copies a text. Pages over plain http, other than of this machine, have no clipboard. */
export function CopyButton({
  value,
  label,
}: {
  readonly value: string;
  readonly label?: string;
}): JSX.Element | null {
  const [isCopied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  if (!("clipboard" in navigator)) return null;
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), 2000);
  };
  const name = isCopied ? text("copied") : (label ?? text("copy"));
  return (
    <>
      <IconButton
        icon={isCopied ? "check" : "copy"}
        isSmall
        label={name}
        onClick={() => void copy().catch(() => {})}
      />
      <span class="visually-hidden" role="status">
        {isCopied ? text("copied") : ""}
      </span>
    </>
  );
}
