import type { ComponentChildren, JSX, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isComposing } from "../keyboard/composing.ts";

interface PopoverProps {
  /** The element that it belongs to. It opens next to it. */
  readonly anchor: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
  readonly class?: string;
  readonly children: ComponentChildren;
}

const margin = 8;

/**
 * A panel over the page. Its element with `autofocus` gets the focus. It closes by Escape, by a
 * click elsewhere, and when the focus leaves it, and gives the focus back to what had it, which a
 * shortcut may have left anywhere.
 */
export function Popover({ anchor, onClose, children, ...rest }: PopoverProps): JSX.Element {
  const panel = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  close.current = onClose;

  // A key may come right after the panel is shown, before an effect that waits for the next frame.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const place = (): void => {
      if (panel.current && anchor.current) placeNextTo(panel.current, anchor.current);
    };
    panel.current?.showPopover();
    place();
    const observer = new ResizeObserver(place);
    if (panel.current) observer.observe(panel.current);
    const onPointerDown = ({ target }: PointerEvent): void => {
      if (!(target instanceof Node)) return;
      const isInside = panel.current?.contains(target) === true;
      if (!isInside && anchor.current?.contains(target) !== true) close.current();
    };
    // The focus is lost when what has it disappears, and Escape must close the panel all the same.
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || isComposing(event)) return;
      event.preventDefault();
      event.stopPropagation();
      close.current();
    };
    window.addEventListener("resize", place);
    document.addEventListener("pointerdown", onPointerDown, true);
    document.addEventListener("keydown", onKeyDown, true);
    return () => {
      observer.disconnect();
      window.removeEventListener("resize", place);
      document.removeEventListener("pointerdown", onPointerDown, true);
      document.removeEventListener("keydown", onKeyDown, true);
      // It is closed already, and what it has opened must stay.
      close.current = () => {};
      const { activeElement } = document;
      const hasFocus =
        activeElement === document.body || panel.current?.contains(activeElement) === true;
      if (hasFocus && opener instanceof HTMLElement) opener.focus();
    };
  }, []);

  return (
    <div
      ref={panel}
      // The browser shows it above everything, whatever cuts off the element around it.
      popover="manual"
      class={`popover ${rest.class ?? ""}`}
      onFocusOut={({ relatedTarget }) => {
        if (!(relatedTarget instanceof Node)) return;
        const stays = panel.current?.contains(relatedTarget) === true;
        if (!stays && anchor.current?.contains(relatedTarget) !== true) close.current();
      }}
    >
      {children}
    </div>
  );
}

/** Below the anchor if there is room, else above; within the window; along the line of text. */
function placeNextTo(panel: HTMLElement, anchor: HTMLElement): void {
  const around = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = panel;
  const below = around.bottom + margin / 2;
  const above = around.top - height - margin / 2;
  const fits = below + height <= window.innerHeight - margin || above < margin;
  const isRightToLeft = document.documentElement.dir === "rtl";
  const alignsEnd = isRightToLeft
    ? around.right - width > margin
    : around.left + width > window.innerWidth - margin;
  const left = alignsEnd ? around.right - width : around.left;
  const { style } = panel;
  const top = fits ? below : above;
  style.top = `${Math.max(margin, Math.min(top, window.innerHeight - height - margin))}px`;
  style.left = `${Math.max(margin, Math.min(left, window.innerWidth - width - margin))}px`;
}
