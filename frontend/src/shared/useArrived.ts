import { useRef } from 'react';

/**
 * Whether something was there once. What stands below it waits for it, so that nothing on the screen moves, and stays when
 * it is read again.
 */
export function useArrived(isThere: boolean): boolean {
  const arrived = useRef(false);
  arrived.current ||= isThere;
  return arrived.current;
}
