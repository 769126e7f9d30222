import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';

const PAUSE_MS = 250;

/**
 * The text of a field that is kept elsewhere, such as in the URL: told after a pause in typing, and followed when it
 * changes elsewhere (Back). The field itself never waits for it, so the caret and what is being composed stay.
 */
export function useTyped(value: string, onChange: (value: string) => void, pauseMs = PAUSE_MS) {
  const [typed, setTyped] = useState(value);
  const told = useRef(value);
  const tell = useDebouncedCallback((next: string) => {
    told.current = next;
    onChange(next);
  }, pauseMs);
  useEffect(() => {
    // A reported value comes back late: more may have been typed since.
    if (value === told.current) return;
    told.current = value;
    tell.cancel();
    setTyped(value);
  }, [value, tell]);
  const type = (next: string) => {
    setTyped(next);
    tell(next);
  };
  return [typed, type] as const;
}
