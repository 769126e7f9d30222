import { Text } from '@mantine/core';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import type { Run } from '@/api/contract/jobs';
import { sentenceOf } from '@/api/errors';
import type { DataGate } from '@/api/schema';
import { sayDetail } from '@/i18n';
import type { Format } from '@/shared/ui/format';
import { GatePlans } from './GatePlans';

type Said = NonNullable<DataGate['why']>;

const say = ({ sentence, code, params }: Said) =>
  sayDetail(sentence, sentenceOf({ detail_code: code, detail_params: params }) ?? undefined);

const nameOf = (t: TFunction, { when, percent }: { when: DataGate['when']; percent: number | null }) =>
  when === 'share' ? t('startWhen.shareOf', { percent }) : t(`startWhen.${when}`);

/** How far the data of a run is that waits for it. */
function progressOf(t: TFunction, format: Format, gate: DataGate): string {
  if (gate.nodes.length === 0) return t('startWhen.choosing');
  const told = {
    present: format.bytes(gate.bytes_present),
    total: format.bytes(gate.bytes_total),
    nodes: gate.nodes.join(', '),
  };
  if (gate.eta_s === null) return t('startWhen.waits', told);
  return t('startWhen.waitsFor', { ...told, time: format.duration(gate.eta_s) });
}

/** When the run starts relative to its data: as asked, as it went, why, and how far the data is. */
export function startItems(t: TFunction, format: Format, { start, data_gate: gate }: Run): [string, ReactNode][] {
  return [
    ...(start ? [[t('startWhen.asked'), nameOf(t, start)] as [string, ReactNode]] : []),
    ...(gate
      ? [
          [
            t('startWhen.taken'),
            <div key="start">
              {nameOf(t, gate)}
              {[gate.why, gate.notice].map(
                (said) =>
                  said && (
                    <Text key={said.code} size="xs" c="dimmed">
                      {say(said)}
                    </Text>
                  ),
              )}
            </div>,
          ] as [string, ReactNode],
        ]
      : []),
    ...(gate && gate.plans.length > 0
      ? [[t('startWhen.plans'), <GatePlans key="plans" plans={gate.plans} />] as [string, ReactNode]]
      : []),
    ...(gate && !gate.opened_at ? [[t('startWhen.data'), progressOf(t, format, gate)] as [string, ReactNode]] : []),
  ];
}
