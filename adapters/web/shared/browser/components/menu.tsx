import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { keyNames } from "../keyboard/key-names.ts";
import { Button, IconButton, type ButtonKind } from "./button.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { Popover } from "./popover.tsx";

/** One entry of a menu. */
export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  /** The key that does the same. */
  readonly shortcut?: string;
  /** Marks the chosen one of several. */
  readonly isChosen?: boolean;
  readonly isDanger?: boolean;
  readonly onPick: () => void;
}

interface MenuProps {
  readonly label: string;
  readonly icon?: IconName;
  readonly items: readonly MenuItem[];
  readonly kind?: ButtonKind;
  /** What the button shows. Without it, the button is only the icon. */
  readonly children?: ComponentChildren;
}

/** A button that opens a menu. */
export function Menu({
  label,
  icon = "dots",
  items,
  kind = "quiet",
  children,
}: MenuProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const anchor = useRef<HTMLButtonElement>(null);
  const toggle = {
    kind,
    icon,
    buttonRef: anchor,
    "aria-haspopup": "menu",
    "aria-expanded": isOpen,
    onClick: () => setOpen(!isOpen),
  } as const;
  return (
    <>
      {children === undefined ? (
        <IconButton {...toggle} label={label} />
      ) : (
        <Button {...toggle} isSmall>
          {children}
        </Button>
      )}
      {isOpen && (
        <Popover anchor={anchor} onClose={() => setOpen(false)} class="menu">
          <MenuItems label={label} items={items} onDone={() => setOpen(false)} />
        </Popover>
      )}
    </>
  );
}

interface MenuItemsProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly onDone: () => void;
}

function MenuItems({ label, items, onDone }: MenuItemsProps): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const entries = (): HTMLElement[] =>
    Array.from(list.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? []);
  const move = (event: KeyboardEvent): void => {
    const all = entries();
    const at = all.findIndex((each) => each === document.activeElement);
    const steps: Partial<Record<string, number>> = {
      ArrowDown: (at + 1) % all.length,
      ArrowUp: (at - 1 + all.length) % all.length,
      Home: 0,
      End: all.length - 1,
    };
    const next = steps[event.key] ?? startingWith(event.key, all, at);
    if (next === undefined) return;
    event.preventDefault();
    all[next]?.focus();
  };
  return (
    <div role="menu" aria-label={label} ref={list} onKeyDown={move}>
      {items.map(({ label, icon, shortcut, isChosen, isDanger, onPick }, index) => (
        <button
          key={label}
          type="button"
          role={isChosen === undefined ? "menuitem" : "menuitemradio"}
          aria-checked={isChosen}
          aria-keyshortcuts={shortcut}
          class={isDanger === true ? "menu-item is-danger" : "menu-item"}
          tabIndex={-1}
          autofocus={index === 0}
          onClick={() => {
            onDone();
            onPick();
          }}
        >
          {icon && <Icon name={icon} />}
          <span class="grow">{label}</span>
          {isChosen === true && <Icon name="check" />}
          {shortcut !== undefined && (
            <kbd class="hide-on-touch" aria-hidden="true">
              {keyNames(shortcut)}
            </kbd>
          )}
        </button>
      ))}
    </div>
  );
}

function startingWith(key: string, all: readonly HTMLElement[], at: number): number | undefined {
  if (key.length !== 1) return undefined;
  const order = all.map((_, index) => (at + 1 + index) % all.length);
  return order.find((index) =>
    all[index]?.textContent.trim().toLowerCase().startsWith(key.toLowerCase()),
  );
}
