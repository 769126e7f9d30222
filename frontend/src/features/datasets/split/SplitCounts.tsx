import { ScrollArea, Skeleton, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { SplitCount } from '@/api/contract/datasets';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';

interface SplitCountsProps {
  counts: SplitCount[] | undefined;
  error: unknown;
  pending: boolean;
}

/** The counts that a split would give: a row per label, a column per split. */
export function SplitCounts({ counts, error, pending }: SplitCountsProps) {
  const { t } = useTranslation();
  const format = useFormat();
  if (error) return <ErrorState error={error} shownFields={['where']} compact />;
  if (!counts) return pending ? <Skeleton height={120} /> : null;
  const labels = [...new Set(counts.flatMap((split) => Object.keys(split.labels)))].sort();
  const hasUnlabelled = counts.some(({ unlabelled }) => unlabelled > 0);
  return (
    <section aria-label={t('datasets.splitPreview')} aria-busy={pending}>
      <Text size="sm" fw={600} mb={4}>
        {t('datasets.splitPreview')}
      </Text>
      <ScrollArea.Autosize
        mah={220}
        viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': t('datasets.splitPreview') }}
      >
        <Table stickyHeader verticalSpacing={4} className="tabular">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('datasets.labelFilter')}</Table.Th>
              {counts.map(({ name }) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {labels.map((label) => (
              <Table.Tr key={label}>
                <Table.Th scope="row">{label}</Table.Th>
                {counts.map((split) => (
                  <Table.Td key={split.name}>{format.number(split.labels[label] ?? 0)}</Table.Td>
                ))}
              </Table.Tr>
            ))}
            {hasUnlabelled && (
              <Table.Tr>
                <Table.Th scope="row">{t('datasets.noLabel')}</Table.Th>
                {counts.map((split) => (
                  <Table.Td key={split.name}>{format.number(split.unlabelled)}</Table.Td>
                ))}
              </Table.Tr>
            )}
            <Table.Tr fw={600}>
              <Table.Th scope="row">{t('datasets.files')}</Table.Th>
              {counts.map((split) => (
                <Table.Td key={split.name}>{format.number(split.total)}</Table.Td>
              ))}
            </Table.Tr>
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
    </section>
  );
}
