import { Skeleton, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import { ErrorState } from '@/shared/ui/ErrorState';

interface SectionProps {
  title: string;
  error?: unknown;
  onRetry?: () => void;
  isLoading?: boolean;
  children: ReactNode;
}

/** A part of what is known of a file, which may be on its way or have failed by itself. */
export function Section({ title, error, onRetry, isLoading, children }: SectionProps) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <Title order={2} fz="sm" mb={6} id={id}>
        {title}
      </Title>
      {error ? <ErrorState error={error} compact onRetry={onRetry} /> : isLoading ? <Skeleton height={48} /> : children}
    </section>
  );
}
