import { ActionIcon, Divider, Tooltip } from '@mantine/core';
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconArrowsJoin,
  IconBrush,
  IconCircleDashed,
  IconContrast2,
  IconFocusCentered,
  IconLine,
  IconPoint,
  IconPointer,
  IconPolygon,
  IconRectangle,
  IconRotateClockwise,
  IconRotateRectangle,
  IconRuler,
  IconScissors,
  IconStretching,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { useTranslation } from 'react-i18next';
import type { ToolName } from '../canvas/tools/tool';
import type { Editing } from './editing';
import type { Keymap } from './keymap';
import classes from './objects.module.css';
import { WITHOUT_DRAWING } from './tools';

const ICONS: Record<ToolName, ComponentType<{ size: number }>> = {
  select: IconPointer,
  box: IconRectangle,
  'extreme-box': IconFocusCentered,
  'rotated-box': IconRotateRectangle,
  polygon: IconPolygon,
  hole: IconCircleDashed,
  split: IconScissors,
  polyline: IconLine,
  point: IconPoint,
  keypoints: IconStretching,
  brush: IconBrush,
  relation: IconArrowsJoin,
  ruler: IconRuler,
  window: IconContrast2,
};

interface ToolBarProps {
  tools: readonly ToolName[];
  active: ToolName;
  keymap: Keymap;
  editing: Editing;
  onTool: (tool: ToolName) => void;
  onTurn: () => void;
}

/** The tools on the left of the picture, each with its key. */
export function ToolBar({ tools, active, keymap, editing, onTool, onTurn }: ToolBarProps) {
  const { t } = useTranslation();
  const shown = editing.readOnly ? tools.filter((tool) => WITHOUT_DRAWING.has(tool)) : tools;
  return (
    <div className={classes.tools} role="toolbar" aria-label={t('labeling.objects.tools')}>
      {shown.map((tool) => {
        const Glyph = ICONS[tool];
        const name = t(`labeling.objects.command.${tool}`);
        return (
          <Tooltip key={tool} label={`${name} (${keymap[tool]})`} position="right">
            <ActionIcon
              className={classes.tool}
              size={40}
              variant={active === tool ? 'filled' : 'default'}
              aria-label={name}
              aria-pressed={active === tool}
              aria-keyshortcuts={keymap[tool]}
              // The focus stays with the picture.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => onTool(tool)}
            >
              <Glyph size={20} />
              <span className={classes.toolKey} aria-hidden data-key={keymap[tool].replace('Shift+', '⇧')} />
            </ActionIcon>
          </Tooltip>
        );
      })}
      <Divider my={4} />
      <Tooltip label={`${t('labeling.objects.command.turn')} (${keymap.turn})`} position="right">
        <ActionIcon
          size={40}
          variant="default"
          aria-label={t('labeling.objects.command.turn')}
          aria-keyshortcuts={keymap.turn}
          onMouseDown={(event) => event.preventDefault()}
          onClick={onTurn}
        >
          <IconRotateClockwise size={18} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={t('common.undo')} position="right">
        <ActionIcon
          size={40}
          variant="default"
          aria-label={t('common.undo')}
          disabled={!editing.canUndo}
          onClick={() => editing.do({ type: 'undo' })}
        >
          <IconArrowBackUp size={18} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={t('labeling.work.redo')} position="right">
        <ActionIcon
          size={40}
          variant="default"
          aria-label={t('labeling.work.redo')}
          disabled={!editing.canRedo}
          onClick={() => editing.do({ type: 'redo' })}
        >
          <IconArrowForwardUp size={18} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
