import { Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { WarmPlan } from '@/api/contract/datasets';
import type { KeysetRows } from '@/api/keyset';
import { ErrorState } from '@/shared/ui/ErrorState';
import { LoadMore } from '@/shared/ui/LoadMore';
import { PlanCard } from './PlanCard';

interface PlanListProps extends KeysetRows<WarmPlan> {
  empty: ReactNode;
  withVersion?: boolean;
  /** The plan whose nodes are shown. */
  open: string | undefined;
  onOpen: (id: string | undefined) => void;
}

/** Plans, one under the other; the nodes of at most one are shown. */
export function PlanList(props: PlanListProps) {
  const { rows, error, refetch, hasMore, isLoadingMore, loadMore, empty, withVersion, open, onOpen } = props;
  if (error && !rows) return <ErrorState error={error} onRetry={refetch} />;
  if (!rows) return <Skeleton height={140} aria-busy />;
  if (rows.length === 0) return empty;
  return (
    <Stack component="section" gap="sm">
      {error != null && <ErrorState error={error} compact onRetry={refetch} />}
      {rows.map((plan) => (
        <PlanCard
          key={plan.id}
          plan={plan}
          withVersion={withVersion}
          open={plan.id === open}
          onOpen={(isOpen) => onOpen(isOpen ? plan.id : undefined)}
        />
      ))}
      {hasMore && <LoadMore loading={isLoadingMore} error={error} onLoad={loadMore} />}
    </Stack>
  );
}
