import type { ReactNode } from 'react';
import { ErrorState } from './ErrorState';
import { Page } from './Page';
import { PageHeader } from './PageHeader';

interface FailedPageProps {
  /** The thing that the page is about. */
  title: string;
  /** The way back: the link to the list. */
  above: ReactNode;
  badges?: ReactNode;
  error: unknown;
  onRetry?: () => void;
  /** The actions that are possible instead. */
  children?: ReactNode;
}

/** A page whose thing could not be read: it keeps its name and its way back. */
export function FailedPage({ title, above, badges, error, onRetry, children }: FailedPageProps) {
  return (
    <Page>
      <PageHeader title={title} above={above} badges={badges} />
      <ErrorState error={error} onRetry={onRetry} />
      {children}
    </Page>
  );
}
