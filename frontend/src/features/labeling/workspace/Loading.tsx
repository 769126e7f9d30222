import { Skeleton } from '@mantine/core';
import { Page } from '@/shared/ui/Page';

/** The labeler's page before its first answer. */
export function Loading() {
  return (
    <Page>
      <Skeleton height={28} width={280} mb="md" />
      <Skeleton height={420} aria-busy />
    </Page>
  );
}
