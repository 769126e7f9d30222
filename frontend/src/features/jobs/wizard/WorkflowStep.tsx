import { Card, Divider, SimpleGrid, Skeleton, Text, ThemeIcon, UnstyledButton } from '@mantine/core';
import {
  type Icon,
  IconChartDots,
  IconDatabaseImport,
  IconMovie,
  IconObjectScan,
  IconPhotoAi,
  IconRoute,
  IconTerminal2,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Workflow } from '@/api/contract/jobs';
import { MlflowLines } from '@/shared/domain/MlflowLines';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useWorkflows } from '../queries';
import { COMMAND } from './draft';
import classes from './wizard.module.css';

const ICONS: Record<string, Icon> = {
  'image-classification': IconPhotoAi,
  'evaluate-classifier': IconChartDots,
  'object-detection': IconObjectScan,
  'evaluate-detector': IconChartDots,
  'video-frames': IconMovie,
  'import-annotations': IconDatabaseImport,
};

export function WorkflowStep({
  chosen,
  onChoose,
}: {
  chosen: string | null;
  onChoose: (workflow: Workflow | null) => void;
}) {
  const { t } = useTranslation();
  const { data, error, refetch } = useWorkflows();
  return (
    <>
      {error && <ErrorState error={error} onRetry={() => void refetch()} />}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} role="radiogroup" aria-label={t('wizard.step.workflow')}>
        {!data && !error && [0, 1, 2, 3].map((index) => <Skeleton key={index} height={116} radius="md" />)}
        {data?.results.map((workflow) => (
          <Choice
            key={workflow.slug}
            icon={ICONS[workflow.slug] ?? IconRoute}
            title={workflow.title}
            text={workflow.description}
            checked={chosen === workflow.slug}
            onChoose={() => onChoose(workflow)}
          />
        ))}
        {/* After the workflows, however many there are: nothing that can be pressed moves. */}
        {(data || error) && (
          <Choice
            icon={IconTerminal2}
            title={t('wizard.ownCommand')}
            text={t('wizard.ownCommandHint')}
            checked={chosen === COMMAND}
            onChoose={() => onChoose(null)}
          />
        )}
      </SimpleGrid>
      {(data || error) && (
        <>
          <Divider my="lg" />
          <MlflowLines />
        </>
      )}
    </>
  );
}

interface ChoiceProps {
  icon: Icon;
  title: string;
  text: string;
  checked: boolean;
  onChoose: () => void;
}

function Choice({ icon: Glyph, title, text, checked, onChoose }: ChoiceProps) {
  return (
    <UnstyledButton role="radio" aria-checked={checked} onClick={onChoose} className={classes.choice}>
      <Card padding="md" className={classes.choiceCard} data-checked={checked || undefined}>
        <ThemeIcon variant="light" size={34} mb={8} aria-hidden>
          <Glyph size={20} stroke={1.6} />
        </ThemeIcon>
        <Text fw={600}>{title}</Text>
        <Text size="sm" c="dimmed" lineClamp={3}>
          {text}
        </Text>
      </Card>
    </UnstyledButton>
  );
}
