import { Card, Group, Skeleton, Text, Title, UnstyledButton } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { Thumb } from '@/shared/grid/Thumb';
import { whenReachable } from '@/shared/live/connection';
import { Dialog } from '@/shared/ui/Dialog';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { visible } from '@/shared/ui/visible';
import { useCorrections } from '../queries';
import type { taskSearch } from '../search';

/** Drawing is large, and few people open it. */
const CompareDocuments = lazy(whenReachable(() => import('./CompareDocuments')));

/** Pictures of the reader that an auditor corrected: each opens before and after. */
export function Corrections({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ReturnType<typeof taskSearch>;
  const corrections = useCorrections(task.id).data?.results ?? [];
  if (corrections.length === 0) return null;
  const open = (item?: string) =>
    void navigate({ to: '/labeling/$taskId', params: { taskId: task.id }, search: { ...search, item } });
  const shown = corrections.find(({ item_id }) => item_id === search.item);
  return (
    <Card mb="md">
      <Title order={2} fz="sm" mb={4}>
        {t('labeling.objects.compare.title')}
      </Title>
      <Text size="xs" c="dimmed" mb="xs">
        {t('labeling.objects.compare.hint')}
      </Text>
      <Group gap="md" align="flex-start">
        {corrections.map((correction) => (
          <UnstyledButton
            key={correction.correction}
            w={110}
            aria-label={t('labeling.objects.compare.open', { name: visible(correction.path) })}
            onClick={() => open(correction.item_id)}
          >
            <Thumb src={correction.thumb_url} />
            <Text size="xs" truncate>
              {visible(correction.path.slice(correction.path.lastIndexOf('/') + 1))}
            </Text>
            <Text size="xs" c="dimmed" component="div">
              <RelativeTime at={correction.at} />
            </Text>
          </UnstyledButton>
        ))}
      </Group>
      <Dialog
        opened={shown !== undefined}
        onClose={() => open(undefined)}
        title={shown && visible(shown.path)}
        size="90%"
      >
        {shown && (
          <Suspense fallback={<Skeleton height={400} />}>
            <CompareDocuments task={task} correction={shown} />
          </Suspense>
        )}
      </Dialog>
    </Card>
  );
}
