import { boxTool } from './box';
import { extremeBoxTool, rotatedBoxTool } from './boxes';
import { brushTool } from './brush';
import { keypointsTool } from './keypoints';
import { pointTool, rulerTool } from './point';
import { holeTool, polygonTool, polylineTool, splitTool } from './polygon';
import { relationTool } from './relation';
import { selectTool } from './select';
import type { Tool, ToolHost, ToolName } from './tool';
import { windowTool } from './window';

const TOOLS: Record<ToolName, (host: ToolHost) => Tool> = {
  select: selectTool,
  box: boxTool,
  'extreme-box': extremeBoxTool,
  'rotated-box': rotatedBoxTool,
  polygon: polygonTool,
  hole: holeTool,
  split: splitTool,
  polyline: polylineTool,
  point: pointTool,
  keypoints: keypointsTool,
  brush: brushTool,
  relation: relationTool,
  ruler: rulerTool,
  window: windowTool,
};

export const makeTool = (name: ToolName, host: ToolHost): Tool => TOOLS[name](host);
