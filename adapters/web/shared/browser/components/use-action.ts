import { useState } from "preact/hooks";
import type { ButtonProps } from "./button.tsx";
import { toastError } from "./toasts.tsx";

/**
 * Returns the props of a button that acts without a dialog. The button shows that it works, and
 * takes no second click meanwhile. A failure is told in a toast.
 */
export function useAction(run: () => Promise<void>): Pick<ButtonProps, "isBusy" | "onClick"> {
  const [isBusy, setBusy] = useState(false);
  const press = async (): Promise<void> => {
    setBusy(true);
    try {
      await run();
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, onClick: () => void press() };
}
