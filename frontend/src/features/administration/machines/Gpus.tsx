import { Badge, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Machine } from '@/api/schema';
import { useFormat } from '@/shared/ui/format';

/** Each GPU of a machine with its memory and the run that has it. */
export function Gpus({ machine }: { machine: Machine }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { gpus, gpu_model: model } = machine;
  if (gpus.length === 0) return null;
  const runOf = new Map(machine.runs.flatMap((run) => run.gpu_ids.map((id) => [id, run] as const)));
  const hidden = machine.elsewhere.gpus > 0;
  return (
    <div>
      <Text size="sm" fw={550} mb={4}>
        {model}
      </Text>
      <Group gap={6}>
        {gpus.map(({ id, memory_bytes: memory }, index) => {
          const run = runOf.get(id);
          const holder = run ? `${run.project} #${run.number}` : hidden ? '' : t('machines.gpuFree');
          return (
            <Badge key={id} title={id} variant={run ? 'light' : 'outline'} color={run ? 'atom' : 'gray'} tt="none">
              {[t('machines.gpu', { number: index }), memory && format.bytes(memory), holder]
                .filter(Boolean)
                .join(' · ')}
            </Badge>
          );
        })}
      </Group>
    </div>
  );
}
