import { useEffect, useState } from 'react';

/**
 * When the dialog that calls it goes, what had the focus before has it again. Mantine does so for dialogs that stay
 * mounted while they are closed; one that is only rendered while it is open would leave the focus nowhere.
 */
export function useFocusBack(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      const isLost = document.activeElement === null || document.activeElement === document.body;
      if (isLost && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    },
    [before],
  );
}
