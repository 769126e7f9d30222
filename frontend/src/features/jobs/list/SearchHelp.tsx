import { Code, Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';

const EXAMPLES = [
  ['words', '"warm restart" resnet #42'],
  ['parameter', 'lr>0.01 epochs=20 optimizer=adam'],
  ['named', 'metric.loss<0.3 param."batch size">=64'],
  ['state', 'state:failed,cancelled'],
  ['tag', 'tag:baseline -tag:broken'],
  ['author', 'author:me'],
  ['data', 'dataset:digits@v3'],
  ['workflow', 'workflow:image-classification'],
  ['created', 'created>=2026-11-01 created:2026-11-01..2026-11-07'],
  ['size', 'duration>2h cpu_hours>10 gpus>=1'],
  ['archived', 'is:archived'],
] as const;

/** The language of the search of runs, by examples. */
export function SearchHelp() {
  const { t } = useTranslation();
  return (
    <Stack gap="xs">
      <Text size="sm">{t('runs.helpIntro')}</Text>
      <Table aria-label={t('runs.help')} verticalSpacing={4}>
        <Table.Tbody>
          {EXAMPLES.map(([name, text]) => (
            <Table.Tr key={name}>
              <Table.Td>
                <Code style={{ overflowWrap: 'anywhere' }}>{text}</Code>
              </Table.Td>
              <Table.Td>{t(`runs.example.${name}`)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}
