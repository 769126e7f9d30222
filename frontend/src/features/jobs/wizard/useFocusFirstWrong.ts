import { useCallback, useEffect, useRef } from 'react';

/** Moves the focus to the first wrong field below `form`, as soon as its message is shown. */
export function useFocusFirstWrong() {
  const form = useRef<HTMLDivElement>(null);
  const isWanted = useRef(false);
  useEffect(() => {
    const wrong = isWanted.current && form.current?.querySelector<HTMLElement>('[aria-invalid="true"]:not([disabled])');
    if (!wrong) return;
    isWanted.current = false;
    wrong.focus();
  });
  const focusFirstWrong = useCallback(() => {
    isWanted.current = true;
  }, []);
  return { form, focusFirstWrong };
}
