import { Badge, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Entry, GivenLabel } from '@/api/contract/datasets';
import { AnchorLink } from '@/shared/ui/links';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import type { VersionAddress } from '../queries';
import { useItemLabels } from './queries';
import { Section } from './Section';

/** The labels of the file from label tasks: person, time, and verdict of an auditor. */
export function ItemLabels({ address, entry }: { address: VersionAddress; entry: Entry }) {
  const { t } = useTranslation();
  const labels = useItemLabels(address.dataset, entry.path);
  const rows = labels.data?.results ?? [];
  return (
    <Section
      title={t('item.labels')}
      error={labels.error}
      onRetry={() => void labels.refetch()}
      isLoading={labels.isPending}
    >
      {rows.length === 0 && (
        <Text size="sm" c="dimmed">
          {t(entry.label ? 'item.labelOfFolder' : 'item.noLabels')}
        </Text>
      )}
      <Stack gap="xs">
        {rows.map((row) => (
          <Given key={row.id} row={row} />
        ))}
      </Stack>
    </Section>
  );
}

function Given({ row }: { row: GivenLabel }) {
  const { t } = useTranslation();
  return (
    <div>
      <Group gap={6}>
        <Badge color={row.is_final ? undefined : 'gray'}>{row.label ?? t('datasets.noLabel')}</Badge>
        {row.is_final && <Text size="xs">{t('item.final')}</Text>}
        {row.verdict && <Text size="xs">{t(`item.verdict.${row.verdict}`, { name: row.auditor ?? '' })}</Text>}
      </Group>
      <Text size="xs" c="dimmed">
        {row.labeler} · <RelativeTime at={row.created_at} /> ·{' '}
        <AnchorLink to="/labeling/$taskId" params={{ taskId: row.task_id }} inherit underline="always">
          {row.task_name}
        </AnchorLink>
      </Text>
    </div>
  );
}
