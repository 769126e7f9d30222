import { Button, Center } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { usePrinting } from './print/printing';

/** Pages that are fetched for a report; what comes after them would fill a book. */
const MOST_PRINTED = 20;

interface LoadMoreProps {
  onLoad: () => void;
  loading: boolean;
  /** The error of the last load: the next one waits for a press. */
  error: unknown;
}

/** Loads the next page when it comes into view, or when pressed (for keyboards, and where observers do not fire). */
export function LoadMore({ onLoad, loading, error }: LoadMoreProps) {
  const { t } = useTranslation();
  const ref = useRef<HTMLButtonElement>(null);
  const load = useRef(onLoad);
  load.current = onLoad;
  const waits = loading || error != null;
  useEffect(() => {
    if (waits || !ref.current) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) load.current();
      },
      { rootMargin: '400px' },
    );
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, [waits]);
  // On paper nothing comes into view.
  const printing = usePrinting();
  const pages = useRef(0);
  useEffect(() => {
    if (!printing) pages.current = 0;
    else if (!waits && pages.current < MOST_PRINTED) {
      pages.current += 1;
      load.current();
    }
  }, [printing, waits]);
  return (
    <Center py="md">
      <Button ref={ref} variant="default" onClick={onLoad} loading={loading}>
        {t('common.loadMore')}
      </Button>
    </Center>
  );
}
