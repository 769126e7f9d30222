import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ImportReport } from '@/api/contract/datasets';
import { useFormat } from '@/shared/ui/format';

/** The files, objects, labels and splits of an import in one line. */
export function Counts({ report }: { report: ImportReport['report'] }) {
  const { t } = useTranslation();
  const format = useFormat();
  const labels = Object.values(report.labels);
  const labelled = labels.reduce((sum, count) => sum + count, 0);
  const said = [
    t('importing.files', { count: report.files }),
    format.bytes(report.size_bytes),
    report.objects > 0 && t('importing.objects', { count: report.objects }),
    labelled > 0 && t('importing.labels', { count: labelled }),
    labelled > 0 && t('importing.classes', { count: labels.length }),
    ...Object.entries(report.splits).map(([name, count]) => `${name} ${format.number(count)}`),
  ];
  return <Text size="sm">{said.filter(Boolean).join(' · ')}</Text>;
}
