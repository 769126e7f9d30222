import { Badge, Card, Stack, Table, Text, Title } from '@mantine/core';
import type { TFunction } from 'i18next';
import { type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { ImportLoss, ImportReport } from '@/api/contract/datasets';
import type { Run } from '@/api/contract/jobs';
import { useFormat } from '@/shared/ui/format';
import { visible } from '@/shared/ui/visible';
import { importing as english } from '../words/importing.en';
import { Confirm } from './Confirm';
import { Counts } from './Counts';
import classes from './importing.module.css';
import { Lines } from './Lines';
import { createLossWords, shareOf, shareText } from './lossWords';
import { sayReason } from './reasons';

type Format = keyof typeof english.formats;
const isFormat = (format: string): format is Format => Object.hasOwn(english.formats, format);
const isPlain = (format: string) => ['folder', 'zip', 'tar'].includes(format);

const PROBLEMS = 10;
const CLASSES = 50;

interface ReportViewProps {
  found: ImportReport;
  /** The run that looked. */
  run: string;
  parameters: Run['parameters'];
}

/** Shows what an import would take and lose, and asks whether to do it. */
export function ReportView({ found, run, parameters }: ReportViewProps) {
  const { t } = useTranslation();
  const words = useMemo(() => createLossWords(t), [t]);
  const { report } = found;
  const misses = words.nearMisses(report);
  const gaps = words.gaps(report);
  const notes = [
    ...report.notes.map((note) => `${sayReason(note)}`),
    ...(report.litter > 0 ? [t('importing.litter', { count: report.litter })] : []),
  ];
  return (
    <Stack gap="sm" maw={860}>
      <Card padding="lg" component="section" aria-label={t('importing.report')}>
        <Stack gap="xs">
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {t('importing.is', {
              source: visible(report.source),
              format: formatWords(t, report.format),
              why: sayReason(report.why),
            })}
          </Text>
          <Counts report={report} />
        </Stack>
      </Card>
      <Losses report={report} lines={words.effects(report)} />
      {misses.length > 0 && (
        <Part title={t('importing.notUnderstood')}>
          <Lines
            lines={misses.map(({ names, reason }) =>
              t('importing.notUnderstoodOne', { names, reason: sayReason(reason) }),
            )}
          />
        </Part>
      )}
      {(gaps.length > 0 || notes.length > 0) && (
        <Part title={t('importing.notes')}>
          <Lines lines={[...gaps, ...notes]} />
        </Part>
      )}
      {report.skipped_total > 0 && <LeftOut report={report} />}
      {report.first.length > 0 && <FirstFiles report={report} />}
      <Confirm found={found} run={run} parameters={parameters} />
    </Stack>
  );
}

/** A format as people write it; archives and folders without annotations are files. */
const formatWords = (t: TFunction, format: string) => {
  if (isPlain(format)) return t('importing.plainFiles');
  return isFormat(format) ? t(`importing.formats.${format}`) : format;
};

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card padding="lg" component="section" aria-label={title}>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      {children}
    </Card>
  );
}

function Losses({ report, lines }: { report: ImportReport['report']; lines: readonly string[] }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { losses } = report;
  const rows = [...losses.whole, ...losses.classes].filter(({ lost }) => lost > 0).slice(0, CLASSES);
  const isAbove = (one: ImportLoss) => losses.above.some(({ kind, label }) => kind === one.kind && label === one.label);
  const nameOf = ({ kind, label }: ImportLoss) => {
    if (label === undefined) return t(kind === 'label' ? 'importing.allLabels' : 'importing.allObjects');
    return label === '' ? t('importing.noClass') : visible(label);
  };
  return (
    <Part title={t('importing.losses')}>
      {lines.length === 0 ? <Text size="sm">{t('importing.noLosses')}</Text> : <Lines lines={lines} />}
      {rows.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll region must be reachable by keyboard
        <section className={classes.table} tabIndex={0} aria-label={t('importing.lossTable')}>
          <Table mt="xs" fz="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('importing.columns.class')}</Table.Th>
                <Table.Th ta="right">{t('importing.columns.lost')}</Table.Th>
                <Table.Th ta="right">{t('importing.columns.source')}</Table.Th>
                <Table.Th ta="right">{t('importing.columns.share')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((one) => (
                <Table.Tr key={`${one.kind} ${one.label ?? ' '}`}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{nameOf(one)}</Table.Td>
                  <Table.Td ta="right">{format.number(one.lost)}</Table.Td>
                  <Table.Td ta="right">{format.number(one.source)}</Table.Td>
                  <Table.Td ta="right">
                    {shareText(shareOf(one))}{' '}
                    {isAbove(one) && (
                      <Badge color="orange" size="sm">
                        {t('importing.tooMuch', { allowed: shareText(losses.allowed) })}
                      </Badge>
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
      )}
    </Part>
  );
}

function LeftOut({ report }: { report: ImportReport['report'] }) {
  const { t } = useTranslation();
  return (
    <Part title={t('importing.leftOut')}>
      <Lines
        lines={Object.entries(report.skipped).map(([reason, count]) =>
          t('importing.leftOutOne', { count, reason: sayReason(reason) }),
        )}
      />
      <Text size="xs" c="dimmed" mt="xs" component="div" style={{ overflowWrap: 'anywhere' }}>
        {report.problems.slice(0, PROBLEMS).map(({ subject, reason }) => (
          <div key={`${subject} ${reason}`}>
            {visible(subject)}: {sayReason(reason)}
          </div>
        ))}
      </Text>
    </Part>
  );
}

function FirstFiles({ report }: { report: ImportReport['report'] }) {
  const { t } = useTranslation();
  const format = useFormat();
  const hasLabels = report.first.some(({ label }) => label !== null);
  const hasSplits = report.first.some(({ split }) => split !== null);
  return (
    <Part title={t('importing.firstFiles')}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll region must be reachable by keyboard */}
      <section className={classes.table} tabIndex={0} aria-label={t('importing.fileTable')}>
        <Table fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('importing.columns.path')}</Table.Th>
              <Table.Th ta="right">{t('importing.columns.size')}</Table.Th>
              {hasLabels && <Table.Th>{t('importing.columns.label')}</Table.Th>}
              {hasSplits && <Table.Th>{t('importing.columns.split')}</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {report.first.map(({ path, size_bytes: size, label, split }) => (
              <Table.Tr key={path}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{visible(path)}</Table.Td>
                <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
                  {format.bytes(size)}
                </Table.Td>
                {hasLabels && <Table.Td>{label !== null && visible(label)}</Table.Td>}
                {hasSplits && <Table.Td>{split}</Table.Td>}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
    </Part>
  );
}
