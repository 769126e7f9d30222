import { Button, Group, Select, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ComparedRun } from '@/api/contract/jobs';
import { DiffResult } from '../code/DiffView';
import { useCodeBetween } from '../queries';

interface CompareCodeProps {
  runs: readonly ComparedRun[];
  /** Numbers of the two runs, from the address. */
  chosen: string[] | undefined;
  onChoose: (chosen: string[]) => void;
}

/** The difference from the code of one run to that of another; read only once it is asked for. */
export function CompareCode({ runs, chosen, onChoose }: CompareCodeProps) {
  const { t } = useTranslation();
  const numbers = runs.map(({ number }) => String(number));
  const known = chosen?.filter((number) => numbers.includes(number)) ?? [];
  const [from, to] = known;
  const options = runs.map(({ number, name }) => ({ value: String(number), label: `${number} ${name}` }));
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Title order={2} fz="sm">
          {t('runpage.code.between')}
        </Title>
        {from === undefined || to === undefined ? (
          <Button size="xs" variant="default" onClick={() => onChoose(numbers.slice(0, 2))}>
            {t('runpage.code.show')}
          </Button>
        ) : (
          <Group gap="xs">
            <Select
              size="xs"
              aria-label={t('runpage.code.from')}
              allowDeselect={false}
              data={options.filter(({ value }) => value !== to)}
              value={from}
              onChange={(value) => value && onChoose([value, to])}
            />
            <Select
              size="xs"
              aria-label={t('runpage.code.to')}
              allowDeselect={false}
              data={options.filter(({ value }) => value !== from)}
              value={to}
              onChange={(value) => value && onChoose([from, value])}
            />
          </Group>
        )}
      </Group>
      {from !== undefined && to !== undefined && <Between from={from} to={to} />}
    </>
  );
}

function Between({ from, to }: { from: string; to: string }) {
  return <DiffResult query={useCodeBetween(from, to)} />;
}
