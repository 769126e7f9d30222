import { Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { FailedPage } from '@/shared/FailedPage';
import { Page } from '@/shared/Page';
import { useArrived } from '@/shared/useArrived';
import { DatasetHeader } from '../DatasetHeader';
import { useDataset } from '../queries';
import { ToDatasets } from '../ToDatasets';
import { DeleteCard } from './DeleteCard';
import { Holds } from './Holds';
import { MovingCard } from './MovingCard';
import { useHolds, useRetention } from './queries';
import { RetentionCard } from './RetentionCard';

const route = getRouteApi('/datasets/$name/keeping');

export function KeepingPage() {
  const { t } = useTranslation();
  const { name } = route.useParams();
  const dataset = useDataset(name);
  const retention = useRetention(name);
  const holds = useHolds(name);
  const hasRetention = useArrived(!retention.isPending);
  const hasHolds = useArrived(!holds.isPending);
  if (dataset.error && !dataset.data)
    return (
      <FailedPage title={name} above={<ToDatasets />} error={dataset.error} onRetry={() => void dataset.refetch()} />
    );
  return (
    <Page>
      <DatasetHeader name={name} tab="settings" subtitle={t('datasets.keepingSubtitle')} />
      <Stack>
        <RetentionCard dataset={name} />
        {/* How high a card becomes is not known: those below it come after it, and nothing moves. */}
        {hasRetention && (
          <>
            <Holds dataset={name} />
            {hasHolds && (
              <>
                <MovingCard dataset={name} />
                <DeleteCard dataset={name} />
              </>
            )}
          </>
        )}
      </Stack>
    </Page>
  );
}
