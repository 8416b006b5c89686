/**
 * Tooltips of all elements with `data-tooltip`, in one element over the page. They repeat what a
 * control's label says, so screen readers do not get them.
 */
import { keyNames } from "../keyboard/key-names.ts";

const delayMs = 450;

/** Begins to show tooltips. Call it once. */
export function installTooltips(): void {
  const tip = document.createElement("div");
  tip.className = "tooltip";
  tip.setAttribute("aria-hidden", "true");
  tip.hidden = true;
  document.body.append(tip);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let owner: Element | null = null;

  const hide = (): void => {
    clearTimeout(timer);
    owner = null;
    tip.hidden = true;
  };
  const schedule = (target: EventTarget | null, delay: number): void => {
    const found = target instanceof Element ? target.closest("[data-tooltip]") : null;
    if (found === owner) return;
    hide();
    owner = found;
    if (found !== null) timer = setTimeout(() => show(tip, found), delay);
  };
  document.addEventListener("pointerover", ({ target, pointerType }) => {
    if (pointerType === "mouse") schedule(target, delayMs);
  });
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element && target.matches(":focus-visible")) schedule(target, delayMs);
  });
  for (const event of ["focusout", "pointerdown", "keydown", "scroll", "blur"]) {
    window.addEventListener(event, hide, { capture: true, passive: true });
  }
}

function show(tip: HTMLElement, owner: Element): void {
  const { tooltip, tooltipKey } = (owner as HTMLElement).dataset;
  if (!owner.isConnected || tooltip === undefined) return;
  tip.replaceChildren(tooltip);
  for (const name of tooltipKey === undefined ? [] : keyNames(tooltipKey)) {
    const key = document.createElement("kbd");
    key.textContent = name;
    tip.append(" ", key);
  }
  // A modal dialog covers everything that is not inside it.
  (owner.closest("dialog") ?? document.body).append(tip);
  tip.hidden = false;
  const around = owner.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = tip;
  const above = around.top - height - 6;
  tip.style.top = `${above < 4 ? around.bottom + 6 : above}px`;
  const left = around.left + around.width / 2 - width / 2;
  tip.style.left = `${Math.max(4, Math.min(left, window.innerWidth - width - 4))}px`;
}
