import { type MouseEvent, useEffect, useRef, useState } from 'react';

interface Leaving {
  from: number;
  to: number;
  body: string;
}

interface LeaveStep {
  /** The index of the step that is shown. */
  at: number;
  /** The request as it stands now. */
  request: object;
  /** Whether the checks of the request are still under way. */
  stale: boolean;
  /** The first step from `at` on that has errors. */
  firstWrong: number;
  /** Shows a step; `refused` where errors keep the person from the one that was asked for. */
  onLeave: (to: number, refused: boolean) => void;
}

/**
 * Leaves a step once its last input is checked. A press counts for the step and the request that it was made on: a check
 * that answers after either has changed moves nobody.
 */
export function useLeaveStep({ at, request, stale, firstWrong, onLeave }: LeaveStep) {
  const [pressed, setPressed] = useState<Leaving | null>(null);
  const body = JSON.stringify(request);
  const leaving = pressed?.from === at && pressed.body === body ? pressed : null;
  const latest = useRef(onLeave);
  latest.current = onLeave;
  useEffect(() => {
    if (pressed !== null && leaving === null) setPressed(null);
    if (leaving === null || stale) return;
    setPressed(null);
    const to = Math.min(leaving.to, firstWrong);
    latest.current(to, to < leaving.to);
  }, [pressed, leaving, stale, firstWrong]);
  const leaveFor = (to: number) => setPressed({ from: at, to, body });
  return {
    isLeaving: leaving !== null,
    leaveFor,
    /** The second click of a double click may meet the next step's button at the same place: it counts for none. */
    onContinue: ({ detail }: MouseEvent) => {
      if (detail <= 1) leaveFor(at + 1);
    },
  };
}
