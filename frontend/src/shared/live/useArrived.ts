import { useEffect, useRef, useState } from 'react';

/**
 * Whether something was there once. Content below it waits for it, so that nothing on the screen moves, and stays when
 * it is read again. It waits at most this number of milliseconds, for ever without a number.
 */
export function useArrived(isThere: boolean, patienceMs?: number): boolean {
  const arrived = useRef(false);
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (patienceMs === undefined || arrived.current) return;
    const timer = setTimeout(() => setLate(true), patienceMs);
    return () => clearTimeout(timer);
  }, [patienceMs]);
  arrived.current ||= isThere || isLate;
  return arrived.current;
}
