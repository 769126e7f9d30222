import { Badge, Card, Group, List, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { LabelTransfer } from '@/api/contract/labeling';
import { sayDetail } from '@/i18n';
import { visible } from '@/shared/ui/visible';

interface Loss {
  code: string;
  params: Record<string, unknown>;
  text: string;
  count: number;
  first: string[];
}

/** The counts of one reading or writing. */
export interface LabelCounts {
  format: string;
  why?: string;
  pictures: number;
  empty: number;
  objects: Record<string, number>;
  notes?: Pick<Loss, 'code' | 'params' | 'text'>[];
  changed: Loss[];
  lost: Loss[];
}

interface Inspection {
  read?: LabelCounts;
  written?: LabelCounts;
  classes?: Record<string, number> | string[];
  matches?: { unmatched: { name: string; reason: 'missing' | 'ambiguous' }[]; left_off: number };
  existing?: number;
}

const SHOWN_NAMES = 50;

/** The counts, losses and missing names of a transfer. */
export function TransferReport({ transfer }: { transfer: LabelTransfer }) {
  const { t } = useTranslation();
  const outcome = transfer.outcome as Inspection;
  const report = { ...(transfer.report as Inspection), ...outcome };
  const counts = report.read ?? report.written;
  if (!counts) return null;
  const objects = Object.values(counts.objects).reduce((sum, count) => sum + count, 0);
  const unmatched = report.matches?.unmatched ?? [];
  const more = unmatched.length - SHOWN_NAMES + (report.matches?.left_off ?? 0);
  return (
    <Card padding="lg" maw={720} component="section" aria-label={t('exchange.transfers')}>
      <Stack gap="sm">
        <Text fw={600}>
          {[
            t('exchange.pictures', { count: counts.pictures }),
            t('exchange.objects', { count: objects }),
            counts.empty > 0 && t('exchange.empty', { count: counts.empty }),
          ]
            .filter(Boolean)
            .join(' · ')}
        </Text>
        {counts.why && (
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {t('exchange.readAs', { format: counts.format, why: counts.why })}
          </Text>
        )}
        {counts.notes?.map(({ code, params, text }) => (
          <Text key={code} size="sm">
            {sayDetail(text, { code, params } as Parameters<typeof sayDetail>[1])}
          </Text>
        ))}
        {!!report.existing && <Text size="sm">{t('exchange.existingCount', { count: report.existing })}</Text>}
        <Classes classes={report.classes} />
        <Losses title={t('exchange.changed')} losses={counts.changed} />
        <Losses title={t('exchange.lost')} losses={counts.lost} />
        {counts.changed.length + counts.lost.length === 0 && <Text size="sm">{t('exchange.nothingLost')}</Text>}
        {unmatched.length > 0 && (
          <div>
            <Text size="sm" fw={600}>
              {t('exchange.unmatched')}
            </Text>
            <List size="sm">
              {unmatched.slice(0, SHOWN_NAMES).map(({ name, reason }) => (
                <List.Item key={name} style={{ overflowWrap: 'anywhere' }}>
                  {visible(name)} · {t(`exchange.reasons.${reason}`)}
                </List.Item>
              ))}
            </List>
            {more > 0 && <Text size="sm">{t('exchange.leftOff', { count: more })}</Text>}
          </div>
        )}
      </Stack>
    </Card>
  );
}

function Classes({ classes }: Pick<Inspection, 'classes'>) {
  const { t } = useTranslation();
  const names = Array.isArray(classes) ? classes : Object.keys(classes ?? {});
  if (names.length === 0) return null;
  return (
    <Group gap={6}>
      <Text size="sm">{t('exchange.classes')}</Text>
      {names.slice(0, SHOWN_NAMES).map((name) => (
        <Badge key={name} variant="default" tt="none">
          {visible(name)}
        </Badge>
      ))}
      {names.length > SHOWN_NAMES && (
        <Text size="sm">{t('exchange.leftOff', { count: names.length - SHOWN_NAMES })}</Text>
      )}
    </Group>
  );
}

function Losses({ title, losses }: { title: string; losses: Loss[] }) {
  if (losses.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <List size="sm">
        {losses.map(({ code, params, text, first }) => (
          <List.Item key={code} style={{ overflowWrap: 'anywhere' }}>
            {sayDetail(text, { code, params } as Parameters<typeof sayDetail>[1])}
            {first.length > 0 && (
              <Text size="xs" c="dimmed">
                {first.map(visible).join(' · ')}
              </Text>
            )}
          </List.Item>
        ))}
      </List>
    </div>
  );
}
