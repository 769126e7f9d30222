import { useCallback, useEffect, useRef } from 'react';

/**
 * Moves the focus to the first wrong field below `form`, as soon as its message is shown; and to `form` itself, which
 * says its name, when another `step` is shown there.
 */
export function useFocusFirstWrong(step: string) {
  const form = useRef<HTMLElement>(null);
  const isWanted = useRef(false);
  const shown = useRef(step);
  useEffect(() => {
    if (shown.current === step) return;
    shown.current = step;
    form.current?.focus({ preventScroll: true });
  }, [step]);
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
