import { Button, Center, Loader, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CanvasView } from '../canvas/CanvasView';
import type { Mark } from '../canvas/controller';
import type { ValueWindow } from '../canvas/deepTile';
import type { Point } from '../canvas/model';
import type { ToolName } from '../canvas/tools/tool';
import type { Decoded } from './imageCache';
import type { Keymap } from './keymap';
import type { PictureLook } from './look';
import classes from './objects.module.css';
import { RelationSelect } from './RelationSelect';
import { TilesNotice } from './TilesNotice';
import { ToolBar } from './ToolBar';
import type { Ontology } from './types';
import type { useCanvasEditor } from './useCanvasEditor';
import type { Drawing } from './useDrawing';
import type { Tiles } from './useTiles';

interface StageProps {
  name: string;
  tools: readonly ToolName[];
  keymap: Keymap;
  ontology: Ontology;
  canvas: ReturnType<typeof useCanvasEditor>;
  image: Decoded;
  tiles: Tiles;
  drawing: Drawing;
  look: PictureLook;
  readOnly: boolean;
  marks: readonly Mark[];
  onPlace?: ((at: Point) => void) | undefined;
  onWindow: (window: ValueWindow | null) => void;
  onReload: () => void;
}

const isDeep = (source: Tiles['source']) => (source?.bits ?? 0) > 8;

/** The tools and the picture. */
export function Stage(props: StageProps) {
  const {
    name,
    tools,
    keymap,
    ontology,
    canvas,
    image,
    tiles,
    drawing,
    look,
    readOnly,
    marks,
    onPlace,
    onWindow,
    onReload,
  } = props;
  const { t } = useTranslation();
  const isWhole = tiles.state === 'whole';
  return (
    <>
      <ToolBar
        tools={isDeep(tiles.source) ? [...tools, 'window'] : tools}
        active={drawing.tool}
        keymap={keymap}
        editing={canvas.editing}
        onTool={drawing.setTool}
        onTurn={() => canvas.controller?.session.run({ do: 'turn' })}
      />
      <section
        className={classes.stage}
        aria-label={t('labeling.objects.canvas', { name })}
        data-picture={isWhole ? image.state : tiles.state}
      >
        <CanvasView
          document={canvas.opened.document}
          editor={canvas.opened}
          ontology={ontology}
          image={image.state === 'ready' ? image.bitmap : null}
          tiles={tiles.source}
          activeLabel={drawing.label}
          // Other pictures have no window: there the tool would do nothing.
          activeTool={drawing.tool === 'window' && !isDeep(tiles.source) ? 'select' : drawing.tool}
          activeRelation={drawing.relation}
          readOnly={readOnly}
          look={look}
          issues={marks}
          onPlace={onPlace}
          onWindow={onWindow}
          onChange={canvas.onDocument}
          onSelect={canvas.follow}
          onTool={drawing.setTool}
          handle={canvas.setController}
        />
        {drawing.tool === 'relation' && !readOnly && (
          <RelationSelect ontology={ontology} value={drawing.relation} onChange={drawing.setRelation} />
        )}
        <TilesNotice tiles={tiles} />
        {isWhole && image.state === 'loading' && (
          <Center className={classes.over} role="status">
            <Loader size="sm" aria-label={t('labeling.objects.loading')} />
          </Center>
        )}
        {isWhole && image.state === 'failed' && (
          <Center className={classes.over} role="alert">
            <Stack align="center" gap="xs">
              <Text size="sm">{t('labeling.objects.failed')}</Text>
              <Button size="xs" variant="default" style={{ pointerEvents: 'auto' }} onClick={onReload}>
                {t('labeling.objects.again')}
              </Button>
            </Stack>
          </Center>
        )}
      </section>
    </>
  );
}
