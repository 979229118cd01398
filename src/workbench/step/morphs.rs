//! Commands that change the weights of morph targets in the displayed pose, and the keys of these weights.

use crate::asset::Property;
use crate::base::{Error, NodeId, Result};
use crate::document::{Edit, KeyEdit, KeyValue, Target};
use crate::rig::RigNode;
use crate::workbench::{Command, Workbench};

impl Workbench {
    /// Runs a command of the morph targets.
    pub(super) fn run_morph_command(&mut self, command: &Command) {
        let done = match command {
            Command::Morph { node, target, weight, continues } => {
                self.set_morph(*node, *target as usize, *weight, *continues)
            }
            Command::ResetMorphs(node) => self.reset_morphs(*node),
            Command::KeyMorphs(node) => self.key_morphs(*node),
            _ => Ok(()),
        };
        if let Err(error) = done {
            self.context.refuse(&error);
            self.limit();
        }
    }

    /// Whether the morph weights of a node have a key at the playhead; `None` if they have no keys at all.
    pub fn morph_key(&self, node: NodeId) -> Option<bool> {
        let motion = self.context.session.document().motion();
        let channel = motion.channel(&Target::node(node, Property::Weights))?;
        Some(self.timeline.column.is_some_and(|time| channel.key_at(time).is_ok()))
    }

    fn set_morph(&mut self, node: NodeId, target: usize, weight: f32, continues: bool) -> Result<()> {
        let found = self.morphed(node)?;
        if target >= found.weights.len() {
            let problem = format!("node {:?} has no morph target {target}", found.name);
            return Err(Error::input(problem, format!("it has {}, counted from 0", found.weights.len())));
        }
        if !weight.is_finite() {
            let problem =
                format!("the weight of morph target {target} of node {:?} is not finite", found.name);
            return Err(Error::input(problem, "give a finite number"));
        }
        let mut weights = self.context.pose.weights[node.index()].clone();
        weights[target] = weight;
        self.set_weights(node, weights, continues);
        Ok(())
    }

    fn reset_morphs(&mut self, node: NodeId) -> Result<()> {
        let weights = self.morphed(node)?.weights.clone();
        self.set_weights(node, weights, false);
        Ok(())
    }

    /// Keys the displayed morph weights of a node, and leaves the motion or the edited pose on display.
    fn key_morphs(&mut self, node: NodeId) -> Result<()> {
        self.morphed(node)?;
        let value = self.context.pose.weights[node.index()].clone();
        let shown = self.playhead.shown;
        let time = self.stand_at_frame();
        self.playhead.shown = shown;
        let target = Target::node(node, Property::Weights);
        self.key(Edit::Keys(KeyEdit::Insert { time, keys: vec![KeyValue { target, value }] }), false);
        Ok(())
    }

    /// Returns a node with morph targets.
    ///
    /// # Errors
    /// The node does not exist or has no morph targets, or the rest pose is on display.
    fn morphed(&self, node: NodeId) -> Result<&RigNode> {
        let nodes = &self.context.character.skeleton.nodes;
        let Some(found) = nodes.get(node.index()) else {
            let problem = format!("there is no node {}", node.0);
            return Err(Error::input(problem, format!("the character has {} nodes", nodes.len())));
        };
        if found.weights.is_empty() {
            let problem = format!("node {:?} has no morph targets", found.name);
            return Err(Error::input(problem, "choose a node whose mesh has some"));
        }
        if self.context.rest_view {
            let problem = format!("the view shows the rest pose, so the weights of {:?} stay", found.name);
            return Err(Error::input(problem, "let the cage tool show the current pose"));
        }
        Ok(found)
    }

    /// Sets the morph weights of a node. If the motion is on display, borrows its pose first.
    fn set_weights(&mut self, node: NodeId, weights: Vec<f32>, continues: bool) {
        if !continues {
            // A drag that begins with an unchanged weight must not continue the drag before it.
            self.sliding = None;
        }
        let (steps, shown) = (self.context.session.history().0, self.shown_time().is_some());
        self.borrow_pose();
        // In takes of earlier versions, the copy is a step already.
        let took = self.context.session.history().0 > steps;
        if self.context.session.document().base_pose().weights[node.index()] == weights {
            return;
        }
        // A hand that holds the body would later commit the old weights. While the motion showed, the copy cancelled it.
        if !shown {
            self.cancel();
        }
        let slides = continues && self.sliding == Some(self.morphing());
        self.run_edit(Edit::SetWeights { node, weights }, took || slides);
        self.sliding = Some(self.morphing());
    }

    fn morphing(&self) -> crate::workbench::shape::Going {
        (None, crate::workbench::CommandKind::Morph, self.context.session.history())
    }
}
